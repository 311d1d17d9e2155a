/// The DocumentReference that the samples of a series go to when they are many (`output.attachOver`).
package struct AttachmentProgram: BitwiseCopyable {
    /// The name in its identity, among the constants: that of the type, of a second series with its number.
    package var name: TableRange
    /// Its members from behind `status` up to the Reference to whom it is about.
    package var head: TableRange

    package init(name: TableRange, head: TableRange) { (self.name, self.head) = (name, head) }
}
