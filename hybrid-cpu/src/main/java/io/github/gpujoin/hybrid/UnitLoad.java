package io.github.gpujoin.hybrid;

/**
 * What a unit would take and what it is worth.
 *
 * @param deviceBytes its tables would take of the device's budget
 * @param hostBytes its tables would take of the host's budget
 * @param probeShare of all recent probe rows that were its own, from 0 to 1
 * @param place where it stands
 */
record UnitLoad(long deviceBytes, long hostBytes, double probeShare, Place place) {

    long bytes(Place target) {
        return target == Place.DEVICE ? deviceBytes : hostBytes;
    }
}
