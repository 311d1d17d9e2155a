import KymographCore
import KymographTemplates

/// Names the template that a payload without a match was probably meant for, in the dead letter's detail.
///
/// That takes far longer than mapping, so that it has a hundredth of the lane's time, and long payloads get none. A
/// device that sends nothing but what is wrong must not slow the others. `kymo dead list --mapping` explains the rest.
struct NearestTemplates {
    /// For each time spent, the rest in which nothing is explained, as its multiple.
    private static let rest = 100
    /// Bytes of a payload beyond which it is not explained.
    private static let mostBytes = 4 << 10

    private var set: MappingSet
    /// Templates of each source, by their numbers in the set.
    private var templates: [[Int]] = []
    private var next = ContinuousClock.now

    /// Of no source yet.
    init(_ set: MappingSet) { self.set = set }

    /// Sources are mapped with `set` from here on, each with its `templates`.
    mutating func adopt(_ set: MappingSet, templates: [[Int]]) { (self.set, self.templates) = (set, templates) }

    /// What is known of a rejection: the rule that it breaks, or the nearest template.
    mutating func text(
        _ detail: RejectionDetail, _ reason: Rejection, bytes: ByteView, source: Int, received: Instant
    ) -> String {
        let text = set.describe(detail)
        guard reason == .noTemplate, templates.indices.contains(source), bytes.count <= Self.mostBytes else {
            return text
        }
        // By the clock, and not the receive time, which letters that come again bring along.
        let start = ContinuousClock.now
        guard start >= next else { return text }
        let finding = NearestTemplate.find(
            set, templates: templates[source], payload: bytes.array, context: SourceContext(), received: received)
        let end = ContinuousClock.now
        next = end + (end - start) * Self.rest
        guard case .nearest(let nearest) = finding else { return text }
        return text.isEmpty ? nearest : "\(text); \(nearest)"
    }
}
