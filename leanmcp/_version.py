"""The version of leanmcp, read by the build and by `leanmcp --version`."""

__version__ = "0.1.0"
