"""Time by op: ``ops`` is the result; ``flops`` has float operations, ``roofline`` what bounds an op."""
