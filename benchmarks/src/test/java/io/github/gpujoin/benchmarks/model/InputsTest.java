// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.benchmarks.model.Input.Origin;
import io.github.gpujoin.benchmarks.model.Input.ResultFigure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class InputsTest {

    private static final Path DOCS = Path.of("..", "docs");
    private static final Path RESULTS = Path.of("results");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#]+)(#[^)]*)?\\)");

    static Stream<Input> inputsOfResults() {
        return Inputs.all().stream().filter(input -> input.figure() != null);
    }

    @ParameterizedTest
    @MethodSource("inputsOfResults")
    void shouldBeWhatTheCommittedResultsSay(Input input) throws Exception {
        double median = median(Objects.requireNonNull(input.figure()));
        assertThat(input.value()).isCloseTo(median, within(median * 5e-4));
    }

    private static double median(ResultFigure figure) throws Exception {
        Path file = RESULTS.resolve(figure.file());
        return figure.file().endsWith(".json")
                ? medianOfJson(new ObjectMapper().readTree(file.toFile()), figure)
                : medianOfLines(Files.readAllLines(file), figure);
    }

    private static double medianOfJson(JsonNode document, ResultFigure figure) {
        for (JsonNode candidate : document.at("/figures")) {
            if (candidate.at("/name").asText().equals(figure.name())
                    && hasParameters(
                            figure, name -> candidate.at("/parameters/" + name).asText())) {
                List<Double> rounds = new ArrayList<>();
                candidate.at("/rounds").forEach(round -> rounds.add(round.asDouble()));
                return Summary.of(rounds).median();
            }
        }
        throw new AssertionError("No such figure: " + figure);
    }

    private static double medianOfLines(List<String> lines, ResultFigure figure) {
        for (String line : lines) {
            Map<String, String> values = new HashMap<>();
            for (String word : line.split(" ")) {
                String[] pair = word.split("=", 2);
                values.put(pair[0], pair[pair.length - 1]);
            }
            if (line.startsWith("RESULT " + figure.name() + " ")
                    && hasParameters(figure, name -> values.getOrDefault(name, ""))) {
                return Summary.of(
                                Stream.of(values.get("rounds").split(","))
                                        .map(Double::valueOf)
                                        .toList())
                        .median();
            }
        }
        throw new AssertionError("No such figure: " + figure);
    }

    private static boolean hasParameters(ResultFigure figure, UnaryOperator<String> valueOf) {
        String[] parameters = figure.parameters();
        boolean equal = true;
        for (int i = 0; i < parameters.length; i += 2) {
            equal &= valueOf.apply(parameters[i]).equals(parameters[i + 1]);
        }
        return equal;
    }

    @Test
    void shouldNameEachInputOnceWithASource() {
        assertThat(Inputs.all()).extracting(Input::name).doesNotHaveDuplicates();
        assertThat(Inputs.all()).allSatisfy(input -> assertThat(input.source()).isNotBlank());
        assertThat(Inputs.all()).allSatisfy(input -> assertThat(input.value()).isPositive());
    }

    @Test
    void shouldListEveryInputOnThePage() throws Exception {
        List<Input> declared = new ArrayList<>();
        for (var field : Inputs.class.getDeclaredFields()) {
            if (field.getType() == Input.class) {
                declared.add((Input) field.get(null));
            }
        }
        assertThat(Inputs.all()).containsExactlyInAnyOrderElementsOf(declared);
    }

    @Test
    void shouldLinkOnlyToFilesThatExist() {
        for (Input input : Inputs.all()) {
            Matcher link = LINK.matcher(input.source());
            while (link.find()) {
                assertThat(Files.exists(DOCS.resolve(link.group(1)))).as(input.source()).isTrue();
            }
        }
    }

    @Test
    void shouldScaleOnlyRatesOfOtherMachines() {
        assertThat(Inputs.all())
                .filteredOn(input -> input.origin() == Origin.SCALED)
                .extracting(Input::name)
                .allMatch(name -> name.startsWith("A100") || name.startsWith("V100"));
    }
}
