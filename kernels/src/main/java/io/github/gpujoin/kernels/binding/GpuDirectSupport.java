// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

/**
 * Access of network cards to the memory of a device, as reported by the CUDA driver. The driver
 * does not know the card, whose own driver may still refuse.
 *
 * @param dmaBuf whether memory can be exported as a dma-buf
 * @param peerMemory whether the operating system can pin device pointers for a card
 *     (nvidia-peermem)
 * @param writesOrdering value of CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: 0 if the
 *     device does not order the writes of cards, 100 if it does for itself, 200 if it does for all
 *     devices
 * @param flushWritesOptions bits of CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: 1 if
 *     the host can flush writes, 2 if a stream operation can
 */
public record GpuDirectSupport(
        boolean dmaBuf, boolean peerMemory, int writesOrdering, int flushWritesOptions) {}
