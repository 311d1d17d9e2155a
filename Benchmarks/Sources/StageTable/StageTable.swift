import Glibc
import Readings

/// Prints each stage beside its twin in C, or a limit, measured in turns in this process: with what is promised, and
/// whether it is kept. Exit status 1 when a promise is not.
@main
struct StageTable {
    static func main() {
        guard TimeStage.agrees() else { fatalError("the times of the twin in C are others") }
        guard BundleTwin.agrees() else { fatalError("the twin in C writes other bundles") }
        print(StageRow.head)
        var missed = 0
        for measure in [scan, scanOfLines, map, time, ring, rings, windows, encode] {
            for row in measure() {
                print(row.text)
                if row.isKept == false { missed += 1 }
            }
            fflush(nil)
        }
        exit(missed == 0 ? 0 : 1)
    }
}
