//! Problem instances: reading, writing, generating, neighbour lists.
