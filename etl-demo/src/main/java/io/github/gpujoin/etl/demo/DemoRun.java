// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import io.github.gpujoin.etl.check.ResultCheck;
import io.github.gpujoin.etl.check.ResultCheck.Outcome;
import io.github.gpujoin.etl.check.TableResults;
import io.github.gpujoin.etl.check.TopicResults;
import io.github.gpujoin.etl.data.Shop;
import io.github.gpujoin.etl.data.Topics;
import io.github.gpujoin.etl.demo.GeneratorProcess.Written;
import io.github.gpujoin.etl.job.EtlPipeline;
import io.github.gpujoin.etl.page.LivePage;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;

/** One run of the demo: starts everything, injects faults, and judges the results. */
final class DemoRun {

    private static final int PARALLELISM = 2;
    private static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(2);
    private static final long BROKER_DOWN_SECONDS = 5;
    private static final long PROGRESS_SECONDS = 10;

    /** After this long without a new result, missing ones are lost. */
    private static final long STALL_SECONDS = 180;

    private final Path project;
    private final Path folder;
    private final PrintWriter out;
    private final long startNs = System.nanoTime();
    private long nextProgressNs;

    /** For the page, whose thread reads it. */
    private volatile long committedOrders;

    /**
     * @param project folder of the built project
     * @param folder of data and logs, which is emptied first
     */
    DemoRun(Path project, Path folder, PrintWriter out) {
        this.project = project;
        this.folder = folder;
        this.out = out;
    }

    /** What is written, and for how long. */
    record Load(Shop shop, int ordersPerSecond, int updatesPerSecond, long durationNs) {}

    /**
     * Runs all of it.
     *
     * @return whether every row of both results was right
     */
    boolean run(Load load, boolean killsTaskManager, boolean killsBroker, int pagePort)
            throws Exception {
        FlinkCluster flink =
                new FlinkCluster(project.resolve("bin/cluster"), folder.resolve("flink"));
        flink.close(); // what a crash left behind
        KafkaProcess.endLeftover(folder.resolve("kafka"));
        FileUtils.deleteDirectory(folder.toFile());
        Files.createDirectories(folder);
        try (DemoProcesses processes = new DemoProcesses(out)) {
            try {
                return start(load, killsTaskManager, killsBroker, pagePort, flink, processes);
            } catch (Exception e) {
                if (processes.isClosed()) {
                    say("Interrupted: all processes are stopped");
                    return false;
                }
                throw e;
            }
        }
    }

    private boolean start(
            Load load,
            boolean killsTaskManager,
            boolean killsBroker,
            int pagePort,
            FlinkCluster flink,
            DemoProcesses processes)
            throws Exception {
        say("Starting Kafka and Flink; logs are in %s", folder);
        KafkaProcess kafka =
                KafkaProcess.start(
                        java("kafka-classpath.txt", "512m"), folder.resolve("kafka"), processes);
        kafka.createTopics(Topics.ORDERS, Topics.CUSTOMERS, Topics.PRODUCTS, Topics.RESULTS);
        processes.add(flink).start(PARALLELISM, 1);
        say("Kafka: %s, Flink: %s", kafka.address(), flink.address());
        List<Fault> faults = new ArrayList<>();
        if (killsTaskManager) {
            faults.add(
                    new Fault(
                            load.durationNs() / 3,
                            "TaskManager killed and replaced",
                            () -> flink.replaceTaskManager(1)));
        }
        if (killsBroker) {
            faults.add(
                    new Fault(
                            load.durationNs() * 2 / 3,
                            "Broker killed and restarted",
                            () -> kafka.killAndRestart(BROKER_DOWN_SECONDS)));
        }
        return join(load, faults, kafka.address(), flink, pagePort, processes);
    }

    private boolean join(
            Load load,
            List<Fault> faults,
            String brokers,
            FlinkCluster flink,
            int pagePort,
            DemoProcesses processes)
            throws Exception {
        long epochMs = System.currentTimeMillis();
        String warehouse = folder.resolve("lake").toUri().toString().replaceFirst("/$", "");
        RunningJob job =
                RunningJob.submit(
                        flink.address(),
                        new EtlPipeline(brokers, epochMs, warehouse),
                        jobJars(),
                        PARALLELISM,
                        CHECKPOINT_INTERVAL);
        GeneratorProcess generator =
                processes.add(
                        GeneratorProcess.start(
                                java("classpath.txt", "256m"), folder, brokers, load, epochMs));
        ResultCheck check = new ResultCheck(load.shop());
        LivePage page =
                processes.add(
                        LivePage.start(
                                pagePort,
                                flink.address(),
                                job.id().toString(),
                                () -> committedOrders));
        say("Page: %s", page.address());
        try (TopicResults topic = new TopicResults(brokers, Topics.RESULTS)) {
            while (check.orders() == 0) {
                advance(topic, check, job, generator);
            }
            say("The first results are committed");
            watch(load, faults, topic, check, job, generator);
            Written written = generator.stop();
            say(
                    "Written: %d orders, %d changes of each dimension",
                    written.orders(), written.updates());
            drain(topic, check, job, written.orders());
            job.stop(folder.resolve("savepoints"));
            topic.readToEnd(check);
            return judge(load.shop(), written, check, warehouse);
        }
    }

    /** A fault, and the time after the start of the orders at which it happens. */
    private record Fault(long afterNs, String text, Action action) {}

    /** What a fault does. */
    private interface Action {
        void run() throws Exception;
    }

    private void watch(
            Load load,
            List<Fault> faults,
            TopicResults topic,
            ResultCheck check,
            RunningJob job,
            GeneratorProcess generator)
            throws Exception {
        long start = System.nanoTime();
        List<Fault> left = new ArrayList<>(faults);
        while (System.nanoTime() - start < load.durationNs() || !left.isEmpty()) {
            advance(topic, check, job, generator);
            if (!left.isEmpty() && System.nanoTime() - start > left.get(0).afterNs()) {
                Fault fault = left.remove(0);
                fault.action().run();
                say("%s", fault.text());
            }
        }
    }

    private void advance(
            TopicResults topic, ResultCheck check, RunningJob job, GeneratorProcess generator)
            throws Exception {
        topic.poll(check);
        requireAlive(job, generator);
        reportProgress(check);
    }

    private static void requireAlive(RunningJob job, GeneratorProcess generator) throws Exception {
        if (job.hasEnded()) {
            throw new IOException("The job failed: " + job.failure());
        }
        if (!generator.isAlive()) {
            generator.stop();
        }
    }

    private void reportProgress(ResultCheck check) {
        committedOrders = check.orders();
        if (System.nanoTime() - nextProgressNs > 0) {
            nextProgressNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(PROGRESS_SECONDS);
            say("%d orders have committed results", committedOrders);
        }
    }

    /** Waits until every order has a result, or no more come. */
    private void drain(TopicResults topic, ResultCheck check, RunningJob job, long orders)
            throws Exception {
        long found = check.orders();
        long lastNewNs = System.nanoTime();
        while (found < orders
                && System.nanoTime() - lastNewNs < TimeUnit.SECONDS.toNanos(STALL_SECONDS)
                && !job.hasEnded()) {
            topic.poll(check);
            reportProgress(check);
            if (check.orders() > found) {
                found = check.orders();
                lastNewNs = System.nanoTime();
            }
        }
    }

    private boolean judge(Shop shop, Written written, ResultCheck topicCheck, String warehouse)
            throws IOException {
        ResultCheck tableCheck = new ResultCheck(shop);
        TableResults.read(warehouse, tableCheck);
        Outcome topic = topicCheck.compare(written.orders(), written.updates());
        Outcome table = tableCheck.compare(written.orders(), written.updates());
        report("Topic", topic);
        report("Table", table);
        boolean isEqual = topic.hash() == table.hash();
        if (!isEqual) {
            say("Topic and table have different rows");
        }
        say(
                "RESULT etl-demo facts=%d results=%d lost=%d duplicated=%d",
                written.orders(),
                topic.rows(),
                topic.lost() + table.lost(),
                topic.duplicated() + table.duplicated());
        return topic.isExact() && table.isExact() && isEqual;
    }

    private void report(String name, Outcome outcome) {
        say(
                "%s: rows=%d lost=%d duplicated=%d wrong=%d %s",
                name,
                outcome.rows(),
                outcome.lost(),
                outcome.duplicated(),
                outcome.wrong(),
                outcome.firstWrong());
    }

    private JavaCommand java(String classPathFile, String heap) throws IOException {
        Path target = project.resolve("etl-demo/target");
        String classPath = Files.readString(target.resolve(classPathFile)).strip();
        return new JavaCommand(
                target.resolve("classes") + File.pathSeparator + classPath,
                project.resolve("deploy/conf/log4j2-cluster.properties"),
                heap);
    }

    private List<Path> jobJars() throws IOException {
        Path target = project.resolve("etl-demo/target");
        String lake = Files.readString(target.resolve("lake-classpath.txt")).strip();
        return Stream.concat(
                        Stream.of(target.resolve("etl-job.jar")),
                        Stream.of(lake.split(File.pathSeparator)).map(Path::of))
                .toList();
    }

    private void say(String format, Object... values) {
        String line = format.formatted(values).strip();
        if (!line.startsWith("RESULT")) {
            line = "%5.1f s  %s".formatted((System.nanoTime() - startNs) / 1e9, line);
        }
        out.println(line);
        out.flush();
    }
}
