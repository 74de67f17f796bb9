package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Hello;

/** A writer that has proved itself and now waits to be accepted by its channel. */
record Admission(ControlLink link, Hello hello, Nonce readerNonce, AttemptToken token) {}
