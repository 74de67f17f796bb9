package io.github.gpujoin.hybrid;

/**
 * What of a divided build side stands in a place.
 *
 * @param units at least 1
 * @param partitions radix partitions of those units
 * @param buildBytes of their rows, as they came
 */
public record PlacedRows(Place place, int units, int partitions, long buildBytes) {}
