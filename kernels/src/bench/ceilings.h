#pragma once

namespace gpujoin::bench {

/** What the machine itself gives, measured in the run whose results it bounds. */
struct Ceilings {
    /** Kernel copy of 8 GiB, bytes read plus bytes written, 10^9 bytes a second. */
    double copyGBs;
    /** Independent 16-byte loads at random places of 8 GiB, 10^9 a second. */
    double gatherGs;
};

Ceilings measureCeilings();

}  // namespace gpujoin::bench
