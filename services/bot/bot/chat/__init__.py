"""The application: from a question to a stream of events. No I/O library is imported here."""
