/** Writes chunks into rings of other hosts with one-sided RDMA. */
package io.github.gpujoin.rdma;
