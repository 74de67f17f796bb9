package io.github.gpujoin.benchmarks.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Figures of all transports, in the order in which they were measured. */
public final class TransportReport {

    private record Row(String transport, Shipment shipment, Meter.Figure figure) {}

    private final List<Row> rows = new ArrayList<>();

    /**
     * @return a line {@code RESULT ...} of the figure
     */
    public String add(String transport, Shipment shipment, Meter.Figure figure) {
        rows.add(new Row(transport, shipment, figure));
        return String.format(
                Locale.ROOT,
                "RESULT %s channels=%d chunk_bytes=%d chunks_per_second=%d bytes_per_second=%d"
                        + " cpu_ns_per_kb=%d p50_ns=%d p99_ns=%d",
                transport,
                shipment.channels(),
                shipment.chunkBytes(),
                shipment.perSecond(),
                Math.round(figure.gigabytesPerSecond() * 1e9),
                Math.round(figure.cpuSecondsPerGigabyte() * 1e3),
                figure.latencyNs().getValueAtPercentile(50),
                figure.latencyNs().getValueAtPercentile(99));
    }

    public String table() {
        StringBuilder table = new StringBuilder();
        line(
                table,
                "transport",
                "channels",
                "chunk",
                "paced",
                "GB/s",
                "vs flink",
                "CPU s/GB",
                "p50 us",
                "p99 us");
        for (Row row : rows) {
            double ratio = row.figure.gigabytesPerSecond() / flink(row.shipment);
            line(
                    table,
                    row.transport,
                    String.valueOf(row.shipment.channels()),
                    row.shipment.size(),
                    row.shipment.isPaced() ? row.shipment.perSecond() + "/s" : "-",
                    row.shipment.isPaced() ? "-" : two(row.figure.gigabytesPerSecond()),
                    row.shipment.isPaced() || Double.isNaN(ratio) ? "-" : two(ratio),
                    row.shipment.isPaced() ? "-" : two(row.figure.cpuSecondsPerGigabyte()),
                    row.shipment.isPaced() ? two(row.figure.latencyMicros(50)) : "-",
                    row.shipment.isPaced() ? two(row.figure.latencyMicros(99)) : "-");
        }
        return table.toString();
    }

    private double flink(Shipment shipment) {
        return rows.stream()
                .filter(row -> row.transport.equals("flink") && row.shipment.equals(shipment))
                .mapToDouble(row -> row.figure.gigabytesPerSecond())
                .findFirst()
                .orElse(Double.NaN);
    }

    private static void line(StringBuilder table, String... cells) {
        table.append(
                String.format(
                        Locale.ROOT,
                        "%-10s %8s %8s %8s %8s %8s %8s %10s %10s%n",
                        (Object[]) cells));
    }

    private static String two(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
