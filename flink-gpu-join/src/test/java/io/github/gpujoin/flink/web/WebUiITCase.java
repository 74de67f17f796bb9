// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.InjectClusterRESTAddress;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a user sees of a join in Flink's Web UI; skipped where there is no Chromium. */
@Timeout(120)
class WebUiITCase {

    private static final Path PICTURE = Path.of("..", "docs", "web-ui.png");

    /** What a chart shows as a number, without separators. */
    private static final String NUMBER =
            "Number(document.querySelector('flink-job-chart .numeric').innerText"
                    + ".replace(/[^0-9]/g, ''))";

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setConfiguration(anyPort())
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    @TempDir private static Path profile;

    private static Configuration anyPort() {
        Configuration config = new Configuration();
        config.set(RestOptions.BIND_PORT, "0");
        return config;
    }

    @Test
    void shouldShowTheJoinAndItsMetrics(@InjectClusterRESTAddress URI address) throws Exception {
        assumeTrue(Browser.isInstalled(), "there is no /usr/bin/chromium to look with");
        JobClient job = startEndlessJob();
        try (Browser browser = Browser.open(profile, 1600, 950)) {
            String overview = address + "/#/job/running/" + job.getJobID() + "/overview";
            browser.goTo(overview);
            browser.await("document.body.innerText.includes('revenue-by-shop')");
            String vertex = vertexOfTheJoin(browser, job.getJobID());
            browser.goTo(overview + "/" + vertex + "/metrics");
            addMetric(browser, "gpuJoin.stage.JOIN.timeMs");
            addMetric(browser, "gpuJoin.joinedRows");
            // As a number the value of the first chart is in the page.
            browser.clickUntil("flink-job-chart .type-switch button:last-child", NUMBER + " > 0");
            assertThat(browser.evaluate("document.body.innerText").asText())
                    .contains(
                            "0.revenue-by-shop.gpuJoin.joinedRows",
                            "0.revenue-by-shop.gpuJoin.stage.JOIN.timeMs");
            if (Boolean.getBoolean("gpu-join.update-docs")) {
                Files.write(PICTURE, browser.screenshot());
            }
        } finally {
            job.cancel().get();
        }
    }

    private static void addMetric(Browser browser, String name) throws Exception {
        browser.clickUntil(
                "flink-job-overview-drawer-chart nz-select",
                "document.activeElement.tagName === 'INPUT'");
        browser.type(name);
        browser.clickUntil(
                "nz-option-item[title$='" + name + "']",
                "document.querySelector(\"flink-job-chart [title$='" + name + "']\")");
    }

    private static String vertexOfTheJoin(Browser browser, JobID job) throws Exception {
        String find =
                "(async () => { const job = await (await fetch('/jobs/"
                        + job
                        + "')).json(); window.joinVertex = job.vertices.find(v =>"
                        + " v.name.startsWith('revenue-by-shop')).id; })()";
        browser.evaluate(find);
        browser.await("window.joinVertex");
        return browser.evaluate("window.joinVertex").asText();
    }

    private static JobClient startEndlessJob() throws Exception {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        StarJoin.of(rows(env, Long.MAX_VALUE))
                .select("value")
                .dimension(rows(env, 1_000), d -> d.named("shop").on("key", "key").partitioned())
                .uid("revenue-by-shop")
                .toRows()
                .sinkTo(new DiscardingSink<>())
                .name("dashboard");
        return env.executeAsync("Revenue by shop");
    }

    private static DataStream<Row> rows(StreamExecutionEnvironment env, long count) {
        TypeInformation<Row> type =
                Types.ROW_NAMED(new String[] {"key", "value"}, Types.LONG, Types.LONG);
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .map(n -> Row.of(n % 1_000, n))
                .returns(type);
    }
}
