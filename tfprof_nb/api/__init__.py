"""What people call: one file per public name, named after it."""
