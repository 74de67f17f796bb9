package io.github.gpujoin.rdma.verbs;

/**
 * Memory of a GPU that a network card writes without a copy in host memory (GPUDirect RDMA).
 * Untested on hardware: it was registered nowhere but where the kernel refuses it.
 *
 * <p>What is needed besides: a card and a GPU under one PCIe root, and the way that is chosen here.
 * The memory outlives its registration.
 */
public sealed interface GpuMemory {

    /** Device pointer of the first byte. No code on the CPU may load from it or store to it. */
    long address();

    /** 1 byte to 2 GiB - 1. */
    long lengthBytes();

    /**
     * By a dma-buf, which the CUDA driver exports (cuMemGetHandleForAddressRange): the kernel's own
     * way, from Linux 5.12 on, with the open GPU kernel modules.
     *
     * @param address a multiple of the host's page size
     * @param fileDescriptor of the dma-buf; may be closed once the memory is registered
     * @param offsetBytes of the memory within the dma-buf
     */
    record DmaBuf(long address, long lengthBytes, int fileDescriptor, long offsetBytes)
            implements GpuMemory {

        public DmaBuf {
            requireExtent(address, lengthBytes);
            if (fileDescriptor < 0 || offsetBytes < 0) {
                throw new IllegalArgumentException(
                        "a dma-buf has a descriptor and no negative offset: fileDescriptor="
                                + fileDescriptor
                                + ", offsetBytes="
                                + offsetBytes);
            }
        }
    }

    /**
     * By the device pointer itself, which the kernel module nvidia-peermem knows what to make of;
     * without it the card's driver refuses the address.
     */
    record PeerMem(long address, long lengthBytes) implements GpuMemory {

        public PeerMem {
            requireExtent(address, lengthBytes);
        }
    }

    private static void requireExtent(long address, long lengthBytes) {
        if (address <= 0 || lengthBytes < 1 || lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "GPU memory has an address and 1 byte to 2 GiB - 1: address="
                            + address
                            + ", lengthBytes="
                            + lengthBytes);
        }
    }
}
