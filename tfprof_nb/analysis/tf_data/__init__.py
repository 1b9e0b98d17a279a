"""tf.data: ``tf_data`` is the result.

``iterators`` links the calls of stages, ``suggestions`` says what to change in each kind of stage.
"""
