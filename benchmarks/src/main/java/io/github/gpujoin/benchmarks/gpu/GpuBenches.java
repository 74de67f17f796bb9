// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** All cases by the name of their group, in the order of reports. */
public final class GpuBenches {

    /** A group that measures only where it is named: it first generates files. */
    public static final String SSB = "ssb";

    /** A group that measures only where it is named: its tuples need a large heap. */
    private static final String BULK_GROUP = "bulk-group";

    private static final Set<String> ONLY_NAMED = Set.of(SSB, BULK_GROUP);

    private static final Map<String, Supplier<GpuBench>> GROUPS = groups();

    private GpuBenches() {}

    private static Map<String, Supplier<GpuBench>> groups() {
        Map<String, Supplier<GpuBench>> groups = new LinkedHashMap<>();
        groups.put("ring", RingBench::new);
        groups.put("encoded", EncodedRingBench::new);
        groups.put("shm", ShmRingBench::new);
        groups.put("packed", PackedRingBench::new);
        groups.put("star", StarBench::new);
        groups.put("skew", SkewBench::new);
        groups.put("engine", EngineBench::new);
        groups.put("group", GroupBench::new);
        groups.put("resident", ResidentBench::new);
        groups.put("bulk", () -> both(new BulkBench(), new PaperJoinsBench()));
        groups.put(BULK_GROUP, BulkGroupBench::new);
        groups.put("out-of-core", OutOfCoreBench::new);
        groups.put("blocking", BlockingBench::new);
        groups.put("flink", FlinkBench::new);
        groups.put(SSB, SsbBench::new);
        return groups;
    }

    private static GpuBench both(GpuBench first, GpuBench second) {
        return run -> {
            List<Figure> figures = new ArrayList<>(first.run(run));
            figures.addAll(second.run(run));
            return figures;
        };
    }

    public static Set<String> names() {
        return GROUPS.keySet();
    }

    /** Figures of the machine's ceilings, by which all others are bounded. */
    public static List<Figure> ceilings(NativeBench nativeBench) throws Exception {
        return nativeBench.run("ceilings");
    }

    /**
     * Measures groups one after the other.
     *
     * @param only names of groups; if empty, all that need neither files nor a large heap
     * @param sink takes the figures of each group when it is done
     */
    public static void run(GpuRun run, List<String> only, Consumer<List<Figure>> sink)
            throws Exception {
        for (String name : names()) {
            if (only.contains(name) || only.isEmpty() && !ONLY_NAMED.contains(name)) {
                sink.accept(GROUPS.get(name).get().run(run));
            }
        }
    }
}
