/// Entries of summaries of glucose: several Observations that stay together, the panel last.
extension EntryWriter {
    mutating func addSummary(
        _ program: TypeProgram, _ content: borrowing WindowContent, _ parties: EntryParties
    ) {
        let first = block.count
        for index in 0..<GlucosePart.count {
            guard let part = GlucosePart(rawValue: index) else { continue }
            encoder.takeIdentity(of: part, content, program)
            block.begin()
            encoder.head.references.holes.begin(at: block.bodyStart)
            encoder.write(part, content, program, references: .left, into: &block.bytes)
            // The panel has taken the identities of its members.
            if part == .panel { encoder.takeIdentity(of: part, content, program) }
            endObservation(
                content, parties, flags: index == 0 ? EntryLayout.beginsPanel : EntryLayout.isJoined,
                firstMember: first)
            contentCount += 1
        }
    }
}
