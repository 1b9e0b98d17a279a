"""tf.data: ``tf_data`` is the result, ``iterators`` finds stages and calls, ``advice`` what to change in them."""
