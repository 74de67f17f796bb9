package io.github.gpujoin.kernels.binding;

/**
 * What a network card can do with a device's memory, as the CUDA driver tells it. It knows nothing
 * of the card, whose own driver may refuse all the same.
 *
 * @param dmaBuf whether memory can be exported as a dma-buf
 * @param peerMemory whether the kernel can pin device pointers for a card (nvidia-peermem)
 * @param writesOrdering CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING
 * @param flushWritesOptions CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
 */
public record GpuDirectSupport(
        boolean dmaBuf, boolean peerMemory, int writesOrdering, int flushWritesOptions) {}
