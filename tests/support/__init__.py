"""Helpers of the tests: real servers as child processes, and the messages to send them."""
