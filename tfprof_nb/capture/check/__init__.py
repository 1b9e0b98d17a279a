"""What ``tfprof_nb.check`` finds out: `environment` gathers facts, `diagnosis` judges them."""
