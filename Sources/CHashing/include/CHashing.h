#pragma once

#include "CCRC32C.h"
#include "CSHA256.h"
