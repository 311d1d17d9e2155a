/// What a resource of a window's readings is known by.
package struct ResourceName: Sendable {
    /// `Observation/<id>`, or the type alone where the server gives the id.
    package var reference: [UInt8]
    /// System and value of the identifier.
    package var system: [UInt8]
    package var identifier: [UInt8]
    /// What is in `status`; of resources that are no Observations, nil.
    package var status: String?
}

extension ObservationEncoder {
    /// The name of the resource that ``encode(_:into:)`` makes of `content`; nil when it makes none, or several.
    package mutating func name(of content: borrowing WindowContent) -> ResourceName? {
        let program = program(of: content.series.type)
        guard program.summary < 0, prepare(content) == nil else { return nil }
        if let resource = resource(of: content.series.type) { return name(of: resource) }
        let systems = program.isCompatible ? head.references.referenceSystems : head.references.systems
        var status = content.status.stated(isPreliminary: program.isPreliminary)
        // The guide knows no amended Observations.
        if options.isPersonalHealth, status == .amended { status = .final }
        return ResourceName(
            reference: reference(ByteView("Observation"), hasID: head.writesID), system: systems.observation.plain,
            identifier: head.identity.value.array, status: status.code.description)
    }

    /// The name of the prepared `resource`, which is no Observation.
    private mutating func name(of resource: ResourceProgram) -> ResourceName {
        let type = head.constants.view(resource.nameStart..<resource.nameEnd)
        let isDevice = resource.identity == .device
        let system = isDevice ? head.references.ownSystems.device : head.references.systems.resource
        return ResourceName(
            reference: reference(type, hasID: isDevice ? options.writesDeviceID : head.writesID), system: system.plain,
            identifier: head.identity.value.array)
    }

    private func reference(_ type: ByteView, hasID: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: 80)
        writer.append(type)
        guard hasID else { return writer.view.array }
        writer.append("/")
        writer.appendHex(head.identity.id)
        return writer.view.array
    }
}
