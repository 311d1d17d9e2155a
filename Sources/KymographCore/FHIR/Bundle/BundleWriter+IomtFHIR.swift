/// What bundles have for types with `compatibility: iomt-fhir`.
extension BundleWriter {
    /// Writes the entries of the Patient and the Device of prepared `content` unless the bundle has them; gives how
    /// the Observation refers to them.
    ///
    /// By conditional create, as the reference looks them up by identifier before it creates them: a PUT under the ids
    /// of its Create mode would replace what the server's Patients have got since.
    @inline(never)
    mutating func requireReferenceResources(_ content: borrowing WindowContent) -> ObservationReferences {
        var references = ObservationReferences(toEntries: encoder.options.refersToEntries)
        references.subject = requireSubject(of: content.series)
        references.device = requireDevice(of: content.series)
        return references
    }
}
