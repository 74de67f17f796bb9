// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

/**
 * Memory of a GPU that a network adapter writes without a copy in host memory (GPUDirect RDMA).
 * Untested on hardware: tests only cover kernels that refuse the registration.
 *
 * <p>Requires an adapter and a GPU under one PCIe root complex. The memory must outlive its
 * registration.
 *
 * @param address device pointer of the first byte, a multiple of the host's page size. CPU code
 *     must not access it. Its last page contains nothing else
 * @param lengthBytes 1 byte to 2 GiB - 1
 * @param method how the adapter maps the memory
 */
public record GpuMemory(long address, long lengthBytes, RegistrationMethod method) {

    /** How the memory is registered with the adapter. */
    public enum RegistrationMethod {
        /**
         * Through a dma-buf that the CUDA driver exports (cuMemGetHandleForAddressRange). Requires
         * Linux 5.12 and the open GPU kernel modules.
         */
        DMA_BUF,
        /**
         * By its device pointer, which the kernel module nvidia-peermem translates. Without the
         * module the adapter's driver rejects the address.
         */
        PEER_MEM
    }

    public GpuMemory {
        if (address <= 0 || lengthBytes < 1 || lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "Invalid GPU memory: address="
                            + address
                            + ", lengthBytes="
                            + lengthBytes
                            + ". Use 1 byte to 2 GiB - 1.");
        }
    }
}
