// ChatTesting
