// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/** The machines of the model. */
final class Hardware {

    private static final int DGX_DEVICES = 8;

    private Hardware() {}

    /** A DGX A100 of the cluster of Gao and Sakharnykh: a network card for each GPU. */
    static Node dgxA100(Link network) {
        Device device =
                new Device(
                        Inputs.A100_COPY.base(),
                        Inputs.A100_GATHER.base(),
                        Inputs.A100_ATOMIC.base());
        return new Node(
                device,
                DGX_DEVICES,
                new Link(Inputs.A100_BUS.base()),
                new Link(Inputs.A100_PEERS.base()),
                network);
    }

    /** A NUMA region of the cluster of Thostrup et al.: one V100, one EDR card. */
    static Node v100() {
        Device device =
                new Device(
                        Inputs.V100_COPY.base(),
                        Inputs.V100_GATHER.base(),
                        Inputs.V100_ATOMIC.base());
        Link network = network(Inputs.EDR.base());
        return new Node(device, 1, new Link(Inputs.V100_BUS.base()), network, network);
    }

    /**
     * A host of H200s. Its devices share host memory, so each has a smaller share of it the more
     * there are.
     *
     * @param devices 1, 2, 4 or 8: counts that were measured
     */
    static Node h200(int devices, Link network) {
        Device device =
                new Device(
                        Inputs.H200_COPY.base(),
                        Inputs.H200_GATHER.base(),
                        Inputs.H200_ATOMIC.base());
        return new Node(
                device,
                devices,
                new Link(hostRead(devices) / devices),
                new Link(Inputs.H200_PEER_COPY.base()),
                network);
    }

    /** Rate at which payload crosses a network card. */
    static Link network(double lineBytesPerS) {
        return new Link(lineBytesPerS * Inputs.PACKET_SHARE.base());
    }

    private static double hostRead(int devices) {
        return switch (devices) {
            case 1 -> Inputs.H200_BUS_READ.base();
            case 2 -> Inputs.HOST_READ_BY_2.base();
            case 4 -> Inputs.HOST_READ_BY_4.base();
            case 8 -> Inputs.HOST_READ_BY_8.base();
            default ->
                    throw new IllegalArgumentException(
                            "Reads of host memory were not measured: devices="
                                    + devices
                                    + ". Use 1, 2, 4 or 8.");
        };
    }
}
