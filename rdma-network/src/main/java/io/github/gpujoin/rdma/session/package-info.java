/** Who may write into a ring, from which sequence on, and when either side is gone. */
package io.github.gpujoin.rdma.session;
