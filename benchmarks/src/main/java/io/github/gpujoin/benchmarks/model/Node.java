// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * A host and its devices, all of one kind.
 *
 * @param bus between host memory, or a network card, and one device
 * @param peers between one device and the others of the node
 * @param network between one device and other nodes
 */
record Node(Device device, int devices, Link bus, Link peers, Link network) {

    Node {
        if (devices < 1) {
            throw new IllegalArgumentException(
                    "Node has no device: devices=" + devices + ". Give it one or more.");
        }
    }

    Node withDevices(int count) {
        return new Node(device, count, bus, peers, network);
    }

    Node withNetwork(Link link) {
        return new Node(device, devices, bus, peers, link);
    }
}
