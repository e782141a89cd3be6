// ChatDomain
