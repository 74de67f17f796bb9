package io.github.gpujoin.rdma.verbs;

/**
 * Memory of a GPU that a network card writes without a copy in host memory (GPUDirect RDMA).
 * Untested on hardware: it was registered nowhere but where the kernel refuses it.
 *
 * <p>What is needed besides: a card and a GPU under one PCIe root, and the way that is chosen here.
 * The memory outlives its registration.
 *
 * @param address device pointer of the first byte, a multiple of the host's page size; no code on
 *     the CPU may load from it or store to it. Its last page holds nothing else
 * @param lengthBytes 1 byte to 2 GiB - 1
 */
public record GpuMemory(long address, long lengthBytes, Way way) {

    /** How the card is given the memory. */
    public enum Way {
        /**
         * By a dma-buf, which the CUDA driver exports (cuMemGetHandleForAddressRange): the kernel's
         * own way, from Linux 5.12 on, with the open GPU kernel modules.
         */
        DMA_BUF,
        /**
         * By the device pointer itself, which the kernel module nvidia-peermem knows what to make
         * of; without it the card's driver refuses the address.
         */
        PEER_MEM
    }

    public GpuMemory {
        if (address <= 0 || lengthBytes < 1 || lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "GPU memory has an address and 1 byte to 2 GiB - 1: address="
                            + address
                            + ", lengthBytes="
                            + lengthBytes);
        }
    }
}
