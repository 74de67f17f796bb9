// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/** Equal nodes on one network without a bound of its own: a full fat tree. */
record Cluster(Node node, int nodes) {

    Cluster {
        if (nodes < 1) {
            throw new IllegalArgumentException(
                    "Cluster has no node: nodes=" + nodes + ". Give it one or more.");
        }
    }

    /**
     * Returns a cluster of so many devices: one node with some of its devices, or several full
     * nodes.
     */
    static Cluster ofDevices(Node node, int devices) {
        if (devices <= node.devices()) {
            return new Cluster(node.withDevices(devices), 1);
        }
        if (devices % node.devices() != 0) {
            throw new IllegalArgumentException(
                    "Devices do not fill their nodes: devices=%d, devicesPerNode=%d. Use a multiple."
                            .formatted(devices, node.devices()));
        }
        return new Cluster(node, devices / node.devices());
    }

    int devices() {
        return nodes * node.devices();
    }

    /** Returns the share of evenly distributed rows that belong to another node. */
    double remoteNodeShare() {
        return (double) (nodes - 1) / nodes;
    }

    /** Returns the share of evenly distributed rows that belong to another device of the node. */
    double peerShare() {
        return (double) (node.devices() - 1) / devices();
    }
}
