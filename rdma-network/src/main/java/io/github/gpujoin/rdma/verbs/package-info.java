/**
 * Thin binding of RDMA verbs: devices, registered memory, queue pairs. Nothing here knows of chunks
 * or sessions. DiSNI's classes are used in {@code verbs.disni} alone, which is defined anew for
 * each user of this package ({@link io.github.gpujoin.rdma.verbs.DisniClassLoader}).
 */
package io.github.gpujoin.rdma.verbs;
