/** What a subtask tells of itself: metrics, its plan as it runs, warnings of heavy keys. */
package io.github.gpujoin.flink.report;
