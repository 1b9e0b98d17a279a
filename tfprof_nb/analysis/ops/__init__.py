"""Time by op: ``ops`` is the result, ``flops`` its float operations, ``roofline`` what bounds an op."""
