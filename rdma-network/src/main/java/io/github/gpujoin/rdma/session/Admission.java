// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Hello;

/** An authenticated writer that waits until its channel accepts it. */
record Admission(ControlLink link, Hello hello, Nonce readerNonce, AttemptToken token) {}
