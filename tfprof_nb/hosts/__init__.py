"""A run of many hosts: each host is reduced to small results where it is read, one at a time, in other processes."""
