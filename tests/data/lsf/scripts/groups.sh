bugroup -w
bmgroup both
