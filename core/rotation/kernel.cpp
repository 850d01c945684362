// The rotation kernels by name. The formulas are in the headers, written once for float and double.

#include "rotation/axis_angle.hpp"
#include "rotation/directions.hpp"
#include "rotation/dual_quaternion.hpp"
#include "rotation/elementwise.hpp"
#include "rotation/euler.hpp"
#include "rotation/filters.hpp"
#include "rotation/interpolation.hpp"
#include "rotation/matrix.hpp"
#include "rotation/packing.hpp"
#include "rotation/quaternion.hpp"
#include "rotation/tracks.hpp"

namespace bunraku::BUNRAKU_LEVEL {
namespace {

constexpr ElementwiseOperation kOperations[] = {
    rotation::operation<rotation::Multiply>("multiply"),
    rotation::operation<rotation::Conjugate>("conjugate"),
    rotation::operation<rotation::Inverse>("inverse"),
    rotation::operation<rotation::Normalize>("normalize"),
    rotation::operation<rotation::Renormalize>("renormalize"),
    rotation::operation<rotation::Dot>("dot"),
    rotation::operation<rotation::AngleBetween>("angle_between"),
    rotation::operation<rotation::Rotate>("rotate"),
    rotation::operation<rotation::Roll<3>>("to_wxyz"),
    rotation::operation<rotation::Roll<1>>("from_wxyz"),
    rotation::operation<rotation::FromRotationVector>("from_rotation_vector"),
    rotation::operation<rotation::ToRotationVector>("to_rotation_vector"),
    rotation::operation<rotation::Exponential>("exp"),
    rotation::operation<rotation::Logarithm>("log"),
    rotation::operation<rotation::FromAxisAngle>("from_axis_angle"),
    rotation::operation<rotation::ToAxisAngle>("to_axis_angle"),
    rotation::operation<rotation::Power>("power"),
    rotation::operation<rotation::SwingTwist>("swing_twist"),
    rotation::operation<rotation::Integrate>("integrate"),
    rotation::operation<rotation::IntegrateFirstOrder>("integrate_first_order"),
    rotation::operation<rotation::ToMatrix>("to_matrix"),
    rotation::operation<rotation::ToMatrix4>("to_matrix4"),
    rotation::operation<rotation::FromMatrix>("from_matrix"),
    rotation::operation<rotation::FromMatrix4>("from_matrix4"),
    rotation::operation<rotation::NearestRotation>("nearest_rotation"),
    rotation::operation<rotation::NearestRotation4>("nearest_rotation4"),
    rotation::operation<rotation::DominantEigenvector>("dominant_eigenvector"),
    rotation::operation<rotation::FromEuler>("from_euler"),
    rotation::operation<rotation::ToEuler>("to_euler"),
    rotation::operation<rotation::GimbalLocked>("gimbal_locked"),
    rotation::operation<rotation::FromThreeAngles>("from_three_angles"),
    rotation::operation<rotation::ToThreeAngles>("to_three_angles"),
    rotation::operation<rotation::BetweenVectors>("between_vectors"),
    rotation::operation<rotation::LookAt>("look_at"),
    rotation::operation<rotation::Lerp>("lerp"),
    rotation::operation<rotation::Nlerp>("nlerp"),
    rotation::operation<rotation::Slerp>("slerp"),
    rotation::operation<rotation::SlerpAsStored>("slerp_as_stored"),
    rotation::operation<rotation::Toward>("toward"),
    rotation::operation<rotation::TowardPart>("toward_part"),
    rotation::operation<rotation::Damp>("damp"),
    rotation::operation<rotation::AngularVelocity>("angular_velocity"),
    rotation::operation<rotation::RelativeAngularVelocity>("relative_angular_velocity"),
    rotation::operation<rotation::AngularSpeed>("angular_speed"),
    rotation::operation<rotation::BodyVelocity>("body_velocity"),
    rotation::operation<rotation::KeyVelocity>("key_velocity"),
    rotation::operation<rotation::SplineSpan>("spline_span"),
    rotation::operation<rotation::DualMultiply>("dual_multiply"),
    rotation::operation<rotation::DualConjugate>("dual_conjugate"),
    rotation::operation<rotation::DualInverse>("dual_inverse"),
    rotation::operation<rotation::DualNormalize>("dual_normalize"),
    rotation::operation<rotation::DualFromRigid>("dual_from_rigid"),
    rotation::operation<rotation::DualToRigid>("dual_to_rigid"),
    rotation::operation<rotation::DualFromMatrix<3>>("dual_from_matrix"),
    rotation::operation<rotation::DualFromMatrix<4>>("dual_from_matrix4"),
    rotation::operation<rotation::DualToMatrix>("dual_to_matrix"),
    rotation::operation<rotation::DualTransformPoints>("dual_transform_points"),
    rotation::operation<rotation::DualTransformVectors>("dual_transform_vectors"),
    rotation::operation<rotation::ToScrew>("to_screw"),
    rotation::operation<rotation::FromScrew>("from_screw"),
    rotation::operation<rotation::DualScrewInterpolation>("dual_screw_interpolation"),
    rotation::operation<rotation::Pack32>("pack_32"),
    rotation::operation<rotation::Unpack32>("unpack_32"),
    rotation::operation<rotation::Pack48>("pack_48"),
    rotation::operation<rotation::Unpack48>("unpack_48"),
    rotation::operation<rotation::Madgwick>("madgwick"),
    rotation::operation<rotation::Mahony>("mahony"),
};

}  // namespace

extern const RotationKernels rotation_kernels{kOperations, sizeof kOperations / sizeof kOperations[0]};

}  // namespace bunraku::BUNRAKU_LEVEL
