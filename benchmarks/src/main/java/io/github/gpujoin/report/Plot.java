// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Dimension;
import java.awt.Font;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.apache.batik.svggen.SVGGraphics2DIOException;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.w3c.dom.Document;

/**
 * A picture of some series over the same categories, as SVG.
 *
 * <p>Letters are drawn as shapes, so that the picture looks the same everywhere; how wide they are
 * is up to the fonts of the machine that draws. What a picture shows is therefore told by {@link
 * #digest}, which stands in it, and not by its bytes.
 */
final class Plot {

    private static final int WIDTH = 760;
    private static final int HEIGHT = 400;

    /** Okabe and Ito's colours, which all readers can tell apart. */
    private static final Color[] COLORS = {
        new Color(0x0072B2),
        new Color(0xD55E00),
        new Color(0x009E73),
        new Color(0xCC79A7),
        new Color(0xE69F00)
    };

    private static final Marker[] MARKERS = {
        SeriesMarkers.CIRCLE,
        SeriesMarkers.SQUARE,
        SeriesMarkers.DIAMOND,
        SeriesMarkers.TRIANGLE_UP,
        SeriesMarkers.CROSS
    };

    private static final BasicStroke[] LIMITS = {dashed(5, 4), dashed(1.5f, 3)};

    private record Series(List<Double> values, boolean limit) {}

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final boolean bars;
    private final List<String> categories;
    private final Map<String, Series> series = new LinkedHashMap<>();

    /**
     * @param bars draws bars; else lines
     */
    Plot(String title, String xTitle, String yTitle, boolean bars, List<String> categories) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.bars = bars;
        this.categories = List.copyOf(categories);
    }

    String title() {
        return title;
    }

    /** Adds measured values, one a category. */
    Plot measured(String name, List<Double> values) {
        return add(name, new Series(values, false));
    }

    /** Adds what the machine would allow, drawn as a thin dashed line. */
    Plot limit(String name, List<Double> values) {
        return add(name, new Series(values, true));
    }

    private Plot add(String name, Series added) {
        if (added.values().size() != categories.size()) {
            throw new IllegalArgumentException(
                    "Series and categories differ in length: series="
                            + name
                            + ", values="
                            + added.values().size()
                            + ", categories="
                            + categories);
        }
        series.put(name, added);
        return this;
    }

    /** Returns a digest of the content, which does not depend on the machine. */
    String digest() {
        List<Object> content = new ArrayList<>(List.of(title, xTitle, yTitle, bars, categories));
        series.forEach(
                (name, drawn) -> {
                    content.add(name);
                    content.add(drawn.limit());
                    drawn.values().forEach(v -> content.add(String.format(Locale.ROOT, "%.4g", v)));
                });
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            byte[] hash = sha256.digest(content.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    String svg() {
        SVGGeneratorContext context = SVGGeneratorContext.createDefault(emptyDocument());
        context.setComment("data " + digest());
        SVGGraphics2D graphics = new SVGGraphics2D(context, true);
        graphics.setSVGCanvasSize(new Dimension(WIDTH, HEIGHT));
        chart().paint(graphics, WIDTH, HEIGHT);
        StringWriter text = new StringWriter();
        try {
            graphics.stream(text, true);
        } catch (SVGGraphics2DIOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static Document emptyDocument() {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .getDOMImplementation()
                    .createDocument("http://www.w3.org/2000/svg", "svg", null);
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("every JDK makes empty documents", e);
        }
    }

    private CategoryChart chart() {
        CategoryChart chart =
                new CategoryChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .title(title)
                        .xAxisTitle(xTitle)
                        .yAxisTitle(yTitle)
                        .build();
        style(chart.getStyler());
        int drawn = 0;
        int limits = 0;
        for (Map.Entry<String, Series> entry : series.entrySet()) {
            CategorySeries line =
                    chart.addSeries(entry.getKey(), categories, entry.getValue().values());
            if (entry.getValue().limit()) {
                line.setMarker(SeriesMarkers.NONE)
                        .setLineColor(Color.GRAY)
                        .setLineStyle(LIMITS[limits++ % LIMITS.length]);
            } else {
                Color color = COLORS[drawn % COLORS.length];
                line.setFillColor(color);
                line.setLineColor(color);
                line.setMarkerColor(color);
                line.setMarker(MARKERS[drawn++ % MARKERS.length]);
            }
        }
        return chart;
    }

    private static BasicStroke dashed(float dash, float gap) {
        return new BasicStroke(
                1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {dash, gap}, 0);
    }

    private void style(CategoryStyler styler) {
        styler.setDefaultSeriesRenderStyle(
                bars
                        ? CategorySeries.CategorySeriesRenderStyle.Bar
                        : CategorySeries.CategorySeriesRenderStyle.Line);
        styler.setOverlapped(!bars); // else the points of a category stand side by side
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setPlotGridVerticalLinesVisible(false);
        styler.setChartTitleBoxVisible(false);
        styler.setYAxisMin(0.0);
        styler.setLocale(Locale.ROOT);
        styler.setMarkerSize(7);
        styler.setBaseFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 14));
    }
}
