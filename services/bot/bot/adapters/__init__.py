"""What stands outside: model servers, index files, limits. Each adapter names its technology."""
