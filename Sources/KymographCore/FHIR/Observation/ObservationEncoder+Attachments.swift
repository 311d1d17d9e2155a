/// Samples that leave their Observation (`output.attachOver`).
extension ObservationEncoder {
    /// Writes the series of `step`, and takes its samples out when they are many; gives the number of condensed
    /// readings.
    @inline(never)
    mutating func writeAttachable(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) -> Int {
        let start = writer.count
        let condensed = writeSeries(step, content, program, &writer)
        attachments.take(Int(step.start), from: start, &writer)
        return condensed
    }

    /// Writes the member that refers to what has left; nothing when nothing has. By identifier: the server may give the
    /// DocumentReference an id of its own, and it may come in another bundle.
    @inline(never)
    mutating func writeDerivedFrom(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        guard attachments.count > 0 else { return }
        for index in 0..<attachments.count {
            index == 0 ? writer.append(",\"derivedFrom\":[") : writer.append(",")
            takeIdentity(ofAttachment: attachments[index].program, content, program)
            writer.append("{\"type\":\"DocumentReference\",\"identifier\":{\"system\":\"")
            writer.append(head.references.systems.resource.escaped)
            writer.append("\",\"value\":\"")
            // One Identifier, which a long one's whole text has no place in.
            writer.appendJSON(head.identity.value)
            writer.append("\"}}")
        }
        writer.append("]")
        head.takeIdentity(of: content, program)
    }

    /// Makes the identity of attachment `number` the one that is written: that of its Observation, in the system of
    /// other resources.
    mutating func takeIdentity(ofAttachment number: Int, _ content: borrowing WindowContent, _ program: TypeProgram) {
        head.takeIdentity(ofAttachment: attachments.programs[number].name, content, program)
    }

    /// Writes the DocumentReference of attachment `number`, whose identity was taken last, with the samples at `place`;
    /// as an error without any.
    mutating func writeAttachment(
        _ number: Int, place: Int?, _ content: borrowing WindowContent, into writer: inout ByteWriter
    ) {
        head.references.form = .left
        writer.append("{\"resourceType\":\"DocumentReference\"")
        head.writeID(head.writesID, &writer)
        writeAttachmentTags(content, &writer)
        writer.append(",\"identifier\":[")
        head.identity.append(in: head.references.systems.resource, to: &writer)
        if let place { attachments.writeName(place, head.identity.digest, &writer) }
        writer.append(place == nil ? "],\"status\":\"entered-in-error\"" : "],\"status\":\"current\"")
        writer.append(head.constants.view(attachments.programs[number].head.places))
        head.references.writeSubject(of: content.series, &writer)
        writer.append("},\"author\":[{")
        head.references.writeDevice(of: content.series, &writer)
        writer.append("}],\"content\":[{\"attachment\":{")
        if let place { attachments.write(place, &writer) } else { writer.append("\"contentType\":\"text/plain\"") }
        writer.append("}}]}")
    }
}
