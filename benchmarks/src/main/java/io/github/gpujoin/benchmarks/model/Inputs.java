// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import io.github.gpujoin.benchmarks.model.Input.ResultFigure;
import io.github.gpujoin.benchmarks.model.Input.Unit;
import java.util.List;

/** Every figure that goes into the model, but for fitted constants ({@link Constant}). */
final class Inputs {

    private static final String H200_RUN = "nvidia-h200-2026-11-21.json";
    private static final String H100_RUN = "nvidia-h100-2026-11-25.json";
    static final String GROUP_RUN = "nvidia-h200-x2-group-2026-11-26.txt";
    private static final String ON_FOUR = "kernels on four H200s of one host; no result file";
    private static final String GAO = "Gao, Sakharnykh, section ";
    private static final String THOSTRUP = "Thostrup et al., section ";
    private static final String TALK =
            "NVIDIA's talk on joins on a DGX-2, \"Performance vs. capacity\"";

    static final Input H200_COPY =
            Input.measured(
                    "H200, device copy, read plus write",
                    4102,
                    Unit.GB_PER_S,
                    new ResultFigure(H200_RUN, "ceiling-device-copy"));
    static final Input H200_GATHER =
            Input.measured(
                    "H200, random 16-byte gathers",
                    43.11,
                    Unit.G_PER_S,
                    new ResultFigure(H200_RUN, "ceiling-device-gather"));
    static final Input H200_ATOMIC =
            Input.measured(
                    "H200, random exchanges over 8 GiB",
                    15.93,
                    Unit.G_PER_S,
                    new ResultFigure(GROUP_RUN, "device-exchange", "devices", "1"));
    static final Input H200_BUS_READ =
            Input.measured(
                    "H200, kernel reads pinned host memory",
                    51.38,
                    Unit.GB_PER_S,
                    new ResultFigure(H200_RUN, "ceiling-zero-copy-read"));
    static final Input H200_BUS_COPY =
            Input.measured(
                    "H200, driver copies pinned host memory to the device",
                    55.50,
                    Unit.GB_PER_S,
                    new ResultFigure(H200_RUN, "ceiling-h2d-copy"));
    static final Input H200_RING =
            Input.measured(
                    "H200, 16-byte facts from pinned rings, counted",
                    3.156,
                    Unit.G_ROWS_PER_S,
                    new ResultFigure(
                            H200_RUN,
                            "ring-probe",
                            "build_rows",
                            "134217728",
                            "tuple_bytes",
                            "16",
                            "chunk_rows",
                            "8192",
                            "result_bytes",
                            "0"));
    static final Input H200_TABLE =
            Input.measured(
                    "H200, table of 2^27 rows from columns in device memory, 34 to 38 ms",
                    36,
                    Unit.MS,
                    "`BuildProfile 27`, [decision 13](decisions/0013-build-on-the-device.md)");
    static final Input TABLE_ROW_BYTES =
            Input.measured(
                    "unique table with 16 bytes of key and payload, bytes a row",
                    48,
                    Unit.BYTES,
                    "[decision 13](decisions/0013-build-on-the-device.md)");
    static final Input FACT_GATHERS =
            Input.measured(
                    "gathers a counted fact, half of the facts match",
                    1.25,
                    Unit.SHARE,
                    "[notes](performance-notes-gpu.md#probing-from-pinned-rings)");
    static final Input ENCODED_FACT_BYTES =
            Input.measured(
                    "fact that is one key of 27 bits, encoded",
                    3.38,
                    Unit.BYTES,
                    "[notes](performance-notes-gpu.md#encoded-facts)");
    static final Input ENCODED_TUPLE_BYTES =
            Input.measured(
                    "tuple that is a key of 27 bits and a payload of 20, encoded",
                    5.9,
                    Unit.BYTES,
                    "[notes](performance-notes-gpu.md#chunks-in-slots)");
    static final Input H200_PEER_COPY =
            Input.measured(
                    "H200, NVLink, peer copy each way",
                    390.3,
                    Unit.GB_PER_S,
                    new ResultFigure(GROUP_RUN, "peer-copy", "devices", "2"));
    static final Input H200_PEER_STORE =
            Input.measured(
                    "H200, NVLink, stores to a peer in random runs of 128 bytes, each way",
                    367.9,
                    Unit.GB_PER_S,
                    new ResultFigure(GROUP_RUN, "peer-store", "devices", "2"));
    static final Input H200_PEER_GATHER =
            Input.measured(
                    "H200, random 16-byte gathers from a peer",
                    6.568,
                    Unit.G_PER_S,
                    new ResultFigure(GROUP_RUN, "peer-gather", "devices", "2"));
    static final Input HOST_READ_BY_2 =
            Input.measured(
                    "two H200s read host memory, in all",
                    101.8,
                    Unit.GB_PER_S,
                    new ResultFigure(GROUP_RUN, "host-read", "devices", "2"));
    static final Input HOST_READ_BY_4 =
            Input.measured("four H200s read host memory, in all", 156, Unit.GB_PER_S, ON_FOUR);
    static final Input HOST_READ_BY_8 =
            Input.measured(
                    "eight H200s read host memory, in all",
                    181,
                    Unit.GB_PER_S,
                    "copies on eight H200s of one host; no result file");
    static final Input H100_COPY =
            Input.measured(
                    "H100, device copy, read plus write",
                    2999,
                    Unit.GB_PER_S,
                    new ResultFigure(H100_RUN, "ceiling-device-copy"));
    static final Input H100_GATHER =
            Input.measured(
                    "H100, random 16-byte gathers",
                    31.88,
                    Unit.G_PER_S,
                    new ResultFigure(H100_RUN, "ceiling-device-gather"));

    static final Input H100_MEMORY = sheet("H100 SXM5 80 GB, memory", 3352);
    static final Input A100_MEMORY = sheet("A100 SXM4 80 GB, memory", 2039);
    static final Input H200_NVLINK = sheet("H200, NVLink each way", 450);
    static final Input A100_NVLINK = sheet("A100, NVLink each way", 300);
    static final Input PCIE5 =
            Input.specified("PCIe 5.0 x16 each way", 63.0, Unit.GB_PER_S, "PCI Express 5.0");
    static final Input PCIE4 =
            Input.specified("PCIe 4.0 x16 each way", 31.5, Unit.GB_PER_S, "PCI Express 4.0");
    static final Input PCIE3 =
            Input.specified("PCIe 3.0 x16 each way", 15.75, Unit.GB_PER_S, "PCI Express 3.0");
    static final Input PACKET_SHARE =
            Input.specified(
                    "payload of a RoCEv2 packet of 4096 bytes on the wire",
                    4096.0 / 4178,
                    Unit.SHARE,
                    "82 bytes of Ethernet, IP, UDP and InfiniBand headers, with the gap");

    static final Input V100_MEMORY =
            Input.read("V100, peak memory bandwidth", 900, Unit.GB_PER_S, TALK);
    static final Input V100_RANDOM =
            Input.read("V100, random 8-byte accesses", 60, Unit.GB_PER_S, TALK);
    static final Input EDR =
            Input.read("EDR InfiniBand, a card and GPU", 12.5, Unit.GB_PER_S, THOSTRUP + "6.1");
    static final Input HDR =
            Input.read("HDR InfiniBand, a card and GPU", 25, Unit.GB_PER_S, GAO + "6.1");
    static final Input COMPRESS =
            Input.read(
                    "A100, compression of both TPC-H tables", 46, Unit.MS, GAO + "6.4, figure 9");
    static final Input DECOMPRESS =
            Input.read(
                    "A100, decompression of both TPC-H tables", 20, Unit.MS, GAO + "6.4, figure 9");
    static final Input RANDOM_ROWS =
            Input.read(
                    "random keys, rows of each table and GPU, two columns of 8 bytes",
                    500,
                    Unit.M_ROWS,
                    GAO + "6.2");
    static final Input RANDOM_MATCHES =
            Input.read("random keys, share of probe rows that match", 0.3, Unit.SHARE, GAO + "6.2");
    static final Input ORDERS_ROWS =
            Input.read(
                    "TPC-H orders a GPU, columns of 8 and 4 bytes",
                    146.48,
                    Unit.M_ROWS,
                    GAO + "6.4");
    static final Input LINEITEM_ROWS =
            Input.read(
                    "TPC-H lineitems a GPU, one column of 8 bytes",
                    585.94,
                    Unit.M_ROWS,
                    GAO + "6.4");
    static final Input CROSSING_ROWS =
            Input.read(
                    "rows of each table and GPU at which one and two levels are equal, 512 GPUs",
                    25,
                    Unit.M_ROWS,
                    GAO + "6.3");

    static final Input A100_COPY =
            Input.scaled(
                    "A100, device copy",
                    A100_MEMORY.base() * H100_COPY.base() / H100_MEMORY.base(),
                    Unit.GB_PER_S,
                    "memory of the A100, share of the H100");
    static final Input A100_GATHER =
            Input.scaled(
                    "A100, random gathers",
                    A100_COPY.base() * H100_GATHER.base() / H100_COPY.base(),
                    Unit.G_PER_S,
                    "copy of the A100, gathers by bytes copied of the H100");
    static final Input A100_ATOMIC =
            Input.scaled(
                    "A100, random exchanges",
                    A100_GATHER.base() * H200_ATOMIC.base() / H200_GATHER.base(),
                    Unit.G_PER_S,
                    "gathers of the A100, exchanges by gathers of the H200");
    static final Input A100_PEERS =
            Input.scaled(
                    "A100, NVLink, peer copy each way",
                    A100_NVLINK.base() * H200_PEER_COPY.base() / H200_NVLINK.base(),
                    Unit.GB_PER_S,
                    "NVLink of the A100, share of the H200");
    static final Input A100_BUS =
            Input.scaled(
                    "A100, bytes that cross PCIe 4.0",
                    PCIE4.base() * H200_BUS_COPY.base() / PCIE5.base(),
                    Unit.GB_PER_S,
                    "PCIe 4.0, share of copies over PCIe 5.0 to the H200");
    static final Input V100_COPY =
            Input.scaled(
                    "V100, device copy",
                    V100_MEMORY.base() * H100_COPY.base() / H100_MEMORY.base(),
                    Unit.GB_PER_S,
                    "memory of the V100, share of the H100");
    static final Input V100_GATHER =
            Input.scaled(
                    "V100, random gathers",
                    V100_RANDOM.base() / Long.BYTES,
                    Unit.G_PER_S,
                    "random accesses of the V100, 8 bytes each");
    static final Input V100_ATOMIC =
            Input.scaled(
                    "V100, random exchanges",
                    V100_GATHER.base() * H200_ATOMIC.base() / H200_GATHER.base(),
                    Unit.G_PER_S,
                    "gathers of the V100, exchanges by gathers of the H200");
    static final Input V100_BUS =
            Input.scaled(
                    "V100, bytes that reach the device over PCIe 3.0",
                    PCIE3.base() * H200_BUS_COPY.base() / PCIE5.base(),
                    Unit.GB_PER_S,
                    "PCIe 3.0, share of copies over PCIe 5.0 to the H200");

    private Inputs() {}

    private static Input sheet(String name, double gbPerS) {
        return Input.specified(name, gbPerS, Unit.GB_PER_S, "data sheet");
    }

    static List<Input> all() {
        return List.of(
                H200_COPY,
                H200_GATHER,
                H200_ATOMIC,
                H200_BUS_READ,
                H200_BUS_COPY,
                H200_RING,
                H200_TABLE,
                TABLE_ROW_BYTES,
                FACT_GATHERS,
                ENCODED_FACT_BYTES,
                ENCODED_TUPLE_BYTES,
                H200_PEER_COPY,
                H200_PEER_STORE,
                H200_PEER_GATHER,
                HOST_READ_BY_2,
                HOST_READ_BY_4,
                HOST_READ_BY_8,
                H100_COPY,
                H100_GATHER,
                V100_MEMORY,
                V100_RANDOM,
                EDR,
                HDR,
                COMPRESS,
                DECOMPRESS,
                RANDOM_ROWS,
                RANDOM_MATCHES,
                ORDERS_ROWS,
                LINEITEM_ROWS,
                CROSSING_ROWS,
                H100_MEMORY,
                A100_MEMORY,
                H200_NVLINK,
                A100_NVLINK,
                PCIE5,
                PCIE4,
                PCIE3,
                PACKET_SHARE,
                A100_COPY,
                A100_GATHER,
                A100_ATOMIC,
                A100_PEERS,
                A100_BUS,
                V100_COPY,
                V100_GATHER,
                V100_ATOMIC,
                V100_BUS);
    }
}
