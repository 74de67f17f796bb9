package io.github.gpujoin.hybrid;

import java.util.List;
import java.util.stream.Stream;

/**
 * What other threads are told of a placement: all of it is of one moment.
 *
 * @param places of the units, in order; empty while LOADING
 * @param rows in each place that holds units, the fastest first
 * @param tableBytes of all units and of what they share
 */
record ShownPlaces(List<Place> places, List<PlacedRows> rows, long tableBytes) {

    static final ShownPlaces NONE = new ShownPlaces(List.of(), List.of(), 0);

    static ShownPlaces of(Placement placement, PlaceEngines device, PlaceEngines host) {
        List<Unit> units = placement.units();
        return new ShownPlaces(
                units.stream().map(Unit::place).toList(),
                Stream.of(Place.values())
                        .map(place -> rowsIn(place, units))
                        .filter(rows -> rows.units() > 0)
                        .toList(),
                units.stream().mapToLong(Unit::tableBytes).sum()
                        + device.sharedBytes()
                        + host.sharedBytes());
    }

    private static PlacedRows rowsIn(Place place, List<Unit> units) {
        List<Unit> there = units.stream().filter(unit -> unit.place() == place).toList();
        return new PlacedRows(
                place,
                there.size(),
                there.stream().mapToInt(unit -> unit.endPartition() - unit.firstPartition()).sum(),
                there.stream().mapToLong(Unit::buildBytes).sum());
    }
}
