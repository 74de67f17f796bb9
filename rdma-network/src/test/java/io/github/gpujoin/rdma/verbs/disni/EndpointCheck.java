// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.RdmaActiveEndpoint;
import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSendWR.IbvWrOcode;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.IbvWC.IbvWcOpcode;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** DiSNI's own endpoint classes, as its users use them, on our natives. */
public final class EndpointCheck {

    private static final int PORT = 18_600;
    private static final int LENGTH_BYTES = 4096;
    private static final int IMMEDIATE = 0x01020304;

    private EndpointCheck() {}

    /** An endpoint with one buffer, which hands on what completes. */
    public static final class Endpoint extends RdmaActiveEndpoint {

        private final ByteBuffer buffer = ByteBuffer.allocateDirect(LENGTH_BYTES);
        private final BlockingQueue<IbvWC> completions = new ArrayBlockingQueue<>(16);
        private IbvMr region;

        Endpoint(RdmaActiveEndpointGroup<Endpoint> group, RdmaCmId id, boolean serverSide)
                throws IOException {
            super(group, id, serverSide);
        }

        @Override
        protected synchronized void init() throws IOException {
            region = registerMemory(buffer).execute().free().getMr();
            IbvRecvWR receive = new IbvRecvWR();
            receive.setSg_list(wholeBuffer());
            postRecv(List.of(receive, receive)).execute().free();
        }

        @Override
        public void dispatchCqEvent(IbvWC completion) {
            completions.add(completion.clone());
        }

        private LinkedList<IbvSge> wholeBuffer() {
            IbvSge element = new IbvSge();
            element.setAddr(region.getAddr());
            element.setLength(LENGTH_BYTES);
            element.setLkey(region.getLkey());
            LinkedList<IbvSge> list = new LinkedList<>();
            list.add(element);
            return list;
        }

        private void post(IbvWrOcode opcode, IbvMr target) throws IOException {
            IbvSendWR request = new IbvSendWR();
            request.setOpcode(opcode.ordinal());
            request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
            request.setImm_data(IMMEDIATE);
            request.setSg_list(wholeBuffer());
            if (target != null) {
                request.getRdma().setRemote_addr(target.getAddr());
                request.getRdma().setRkey(target.getRkey());
            }
            postSend(List.of(request)).execute().free();
        }

        private IbvWC expect(IbvWcOpcode opcode) throws Exception {
            IbvWC completion = completions.poll(20, TimeUnit.SECONDS);
            if (completion == null
                    || completion.getStatus() != 0
                    || completion.getOpcode() != opcode.getOpcode()) {
                throw new IOException(
                        "expected=%s, status=%s, opcode=%s"
                                .formatted(
                                        opcode,
                                        completion == null ? "none" : completion.getStatus(),
                                        completion == null ? "none" : completion.getOpcode()));
            }
            return completion;
        }
    }

    /** Sends, writes with an immediate value, and reads, between two endpoints of this process. */
    public static String run(String address) throws Exception {
        RdmaActiveEndpointGroup<Endpoint> servers = group();
        RdmaActiveEndpointGroup<Endpoint> clients = group();
        RdmaServerEndpoint<Endpoint> listener = servers.createServerEndpoint();
        InetSocketAddress local = new InetSocketAddress(address, PORT);
        listener.bind(local, 4);
        CompletableFuture<Endpoint> accepted =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return listener.accept();
                            } catch (IOException e) {
                                throw new IllegalStateException(e);
                            }
                        });
        Endpoint client = clients.createEndpoint();
        client.connect(local, 10_000);
        Endpoint server = accepted.get(20, TimeUnit.SECONDS);
        exchange(client, server);

        client.deregisterMemory(client.region);
        server.deregisterMemory(server.region);
        client.close();
        server.close();
        listener.close();
        servers.close();
        clients.close();
        return "DiSNI's endpoints send, write with an immediate value, and read";
    }

    private static void exchange(Endpoint client, Endpoint server) throws Exception {
        fill(client.buffer, 1);
        client.post(IbvWrOcode.IBV_WR_SEND, null);
        client.expect(IbvWcOpcode.IBV_WC_SEND);
        int received = server.expect(IbvWcOpcode.IBV_WC_RECV).getByte_len();
        require(received == LENGTH_BYTES, "byte_len=" + received);
        requireSame(client.buffer, server.buffer);

        fill(server.buffer, 2);
        server.post(IbvWrOcode.IBV_WR_RDMA_WRITE_WITH_IMM, client.region);
        server.expect(IbvWcOpcode.IBV_WC_RDMA_WRITE);
        int immediate = client.expect(IbvWcOpcode.IBV_WC_RECV_RDMA_WITH_IMM).getImm_data();
        require(immediate == IMMEDIATE, "imm_data=" + immediate);
        requireSame(client.buffer, server.buffer);

        fill(server.buffer, 3);
        client.post(IbvWrOcode.IBV_WR_RDMA_READ, server.region);
        client.expect(IbvWcOpcode.IBV_WC_RDMA_READ);
        requireSame(client.buffer, server.buffer);
    }

    private static RdmaActiveEndpointGroup<Endpoint> group() throws IOException {
        RdmaActiveEndpointGroup<Endpoint> group =
                new RdmaActiveEndpointGroup<>(1000, false, 16, 1, 16);
        group.getConnParam().setRetry_count((byte) 7);
        group.init((id, serverSide) -> new Endpoint(group, id, serverSide));
        return group;
    }

    private static void fill(ByteBuffer buffer, int seed) {
        for (int i = 0; i < LENGTH_BYTES; i++) {
            buffer.put(i, (byte) (i * 31 + seed));
        }
    }

    private static void requireSame(ByteBuffer one, ByteBuffer other) {
        require(one.mismatch(other) == -1, "mismatch=" + one.mismatch(other));
    }

    private static void require(boolean holds, String found) {
        if (!holds) {
            throw new IllegalStateException(found);
        }
    }
}
