/// The sources of a lane of which nothing is read, because they are paused. Of the lane's thread.
final class HeldSources {
    /// What is paused.
    private let holds: SourceHolds
    /// The generation of it that the lane follows.
    private var generation = 0
    /// The places of the sources of which nothing is read for that.
    private(set) var places: Set<Int> = []

    /// Nothing is held yet; `holds` says what is paused.
    init(_ holds: SourceHolds) { self.holds = holds }

    /// Whether nothing is read of source `index`.
    func contains(_ index: Int) -> Bool { places.contains(index) }

    /// Whether what is paused has changed since it was followed.
    var haveChanged: Bool { holds.generation != generation }

    /// The numbers of what is paused, and the generation that they are of.
    var wanted: (numbers: Set<Int>, generation: Int) { holds.current }

    /// Holds the sources at `places` from here on.
    func hold(_ places: Set<Int>) { self.places = places }

    /// Notes that what is paused is followed up to `generation`.
    func noteFollowed(_ generation: Int) { self.generation = generation }

    /// What is paused has to be followed again.
    func followAgain() { generation = -1 }

    /// Forgets the source at `index`.
    func forget(_ index: Int) { places.remove(index) }
}
