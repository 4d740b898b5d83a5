//! The mutation operators and their names.

/// What a mutation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    ComparisonBoundary,
    ComparisonNegation,
    Arithmetic,
    Bitwise,
    BooleanOperator,
    Unary,
    NegateCondition,
    DropNot,
    /// An integer or float: plus or minus one, 0, 1, negated.
    Constant,
    BooleanConstant,
    StringConstant,
    /// Of an operator that is not commutative.
    SwapOperands,
    SwapArguments,
    /// A keyword argument.
    DropArgument,
    /// A parameter's default value.
    DropDefault,
    /// By another name in the function's scope.
    ReplaceName,
    ReplaceAttribute,
    /// The returned value becomes null or neutral.
    NeutralReturn,
    /// `f(x)` becomes `x`.
    CallToArgument,
    /// At the end of a range or slice.
    OffByOne,
    BreakContinue,
    InvertBranches,
    RemoveElse,
    /// The body stays.
    RemoveConditional,
    AssignmentOperator,
    RemoveAssignment,
    RemoveCall,
    RemoveLoop,
    /// `try` or `with`; the body stays.
    RemoveWrapper,
    /// Two neighbours change places.
    ShuffleStatements,
    EarlyReturn,
    /// `a + b` becomes `a` or `b`.
    BreakChain,
}

impl Operator {
    /// Every operator, in the order of the enumeration.
    pub const ALL: [Self; 32] = [
        Self::ComparisonBoundary,
        Self::ComparisonNegation,
        Self::Arithmetic,
        Self::Bitwise,
        Self::BooleanOperator,
        Self::Unary,
        Self::NegateCondition,
        Self::DropNot,
        Self::Constant,
        Self::BooleanConstant,
        Self::StringConstant,
        Self::SwapOperands,
        Self::SwapArguments,
        Self::DropArgument,
        Self::DropDefault,
        Self::ReplaceName,
        Self::ReplaceAttribute,
        Self::NeutralReturn,
        Self::CallToArgument,
        Self::OffByOne,
        Self::BreakContinue,
        Self::InvertBranches,
        Self::RemoveElse,
        Self::RemoveConditional,
        Self::AssignmentOperator,
        Self::RemoveAssignment,
        Self::RemoveCall,
        Self::RemoveLoop,
        Self::RemoveWrapper,
        Self::ShuffleStatements,
        Self::EarlyReturn,
        Self::BreakChain,
    ];

    /// A stable name in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Self::ComparisonBoundary => "comparison_boundary",
            Self::ComparisonNegation => "comparison_negation",
            Self::Arithmetic => "arithmetic",
            Self::Bitwise => "bitwise",
            Self::BooleanOperator => "boolean_operator",
            Self::Unary => "unary",
            Self::NegateCondition => "negate_condition",
            Self::DropNot => "drop_not",
            Self::Constant => "constant",
            Self::BooleanConstant => "boolean_constant",
            Self::StringConstant => "string_constant",
            Self::SwapOperands => "swap_operands",
            Self::SwapArguments => "swap_arguments",
            Self::DropArgument => "drop_argument",
            Self::DropDefault => "drop_default",
            Self::ReplaceName => "replace_name",
            Self::ReplaceAttribute => "replace_attribute",
            Self::NeutralReturn => "neutral_return",
            Self::CallToArgument => "call_to_argument",
            Self::OffByOne => "off_by_one",
            Self::BreakContinue => "break_continue",
            Self::InvertBranches => "invert_branches",
            Self::RemoveElse => "remove_else",
            Self::RemoveConditional => "remove_conditional",
            Self::AssignmentOperator => "assignment_operator",
            Self::RemoveAssignment => "remove_assignment",
            Self::RemoveCall => "remove_call",
            Self::RemoveLoop => "remove_loop",
            Self::RemoveWrapper => "remove_wrapper",
            Self::ShuffleStatements => "shuffle_statements",
            Self::EarlyReturn => "early_return",
            Self::BreakChain => "break_chain",
        }
    }
}
