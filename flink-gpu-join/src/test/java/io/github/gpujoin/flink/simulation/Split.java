package io.github.gpujoin.flink.simulation;

import java.util.List;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/**
 * A part of a source that one subtask reads at a time.
 *
 * @param script its rows, watermarks and statuses, in order
 */
record Split(String source, int number, List<StreamElement> script) {}
