"""What Python calls to run a session."""

SESSION_RUN = "BaseSession.run"
