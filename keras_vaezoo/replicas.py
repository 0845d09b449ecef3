"""What a step must know of `tf.distribute`; elsewhere there is one replica."""

import keras


def replica_id():
    """Number of this replica as a tensor; `None` where there is only one."""
    context = _context()
    return None if context is None else context.replica_id_in_sync_group


def sum_over_replicas(values):
    """Sum over the replicas: of means that Keras scaled by their number, the overall mean."""
    context = _context()
    if context is None:
        return values
    import tensorflow as tf

    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)


def _context():
    if keras.backend.backend() != "tensorflow":
        return None
    import tensorflow as tf

    context = tf.distribute.get_replica_context()
    return None if context is None or context.num_replicas_in_sync == 1 else context
