// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Test support for transports on RDMA devices, also of the checks on a device. */
package io.github.gpujoin.rdma.transport.disni.testing;
